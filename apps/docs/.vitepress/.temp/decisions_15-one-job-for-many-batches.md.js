import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/15-one-job-for-many-batches.md
var __pageData = JSON.parse("{\"title\":\"15. One job for many batches\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/15-one-job-for-many-batches.md\",\"filePath\":\"decisions/15-one-job-for-many-batches.md\"}");
var _sfc_main = { name: "decisions/15-one-job-for-many-batches.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_15-one-job-for-many-batches" tabindex="-1">15. One job for many batches <a class="header-anchor" href="#_15-one-job-for-many-batches" aria-label="Permalink to “15. One job for many batches”">​</a></h1><p><strong>Context.</strong> The first plan had one job per batch. A job costs the worker and Redis far more than the batch&#39;s one row.</p><p><strong>Decision.</strong> One job for all batches that commit within 500 ms; after a quiet time, at once.</p><p><strong>Consequence.</strong> Under load this saves most of both, and idle nothing waits. Confirmation may come 500 ms later under load. It was 100 ms before: with five times as many batches in a job a registration costs worker and Redis 1.3 µs instead of 3.8 (one hot ticket, <code>npm run bench -- --against</code>, commit ab74d02), and an event that sells slowly among many others has fewer segments in the journal.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/15-one-job-for-many-batches.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _15_one_job_for_many_batches_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _15_one_job_for_many_batches_default as default };
