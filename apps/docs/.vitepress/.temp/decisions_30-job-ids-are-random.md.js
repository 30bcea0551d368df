import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/30-job-ids-are-random.md
var __pageData = JSON.parse("{\"title\":\"30. Each notification is a job of its own\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/30-job-ids-are-random.md\",\"filePath\":\"decisions/30-job-ids-are-random.md\"}");
var _sfc_main = { name: "decisions/30-job-ids-are-random.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_30-each-notification-is-a-job-of-its-own" tabindex="-1">30. Each notification is a job of its own <a class="header-anchor" href="#_30-each-notification-is-a-job-of-its-own" aria-label="Permalink to “30. Each notification is a job of its own”">​</a></h1><p><strong>Context.</strong> A job&#39;s id was made of a batch&#39;s id and the count of its enqueues. A job that had arrived although its enqueue timed out could swallow the next one, and delay its batches by 10 s.</p><p><strong>Decision.</strong> Job ids are random.</p><p><strong>Consequence.</strong> A batch may be notified twice, which does no harm (<a href="./../how-it-works/outbox.html">Outbox</a>).</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/30-job-ids-are-random.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _30_job_ids_are_random_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _30_job_ids_are_random_default as default };
