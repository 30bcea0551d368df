import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/44-jobs-describe-themselves.md
var __pageData = JSON.parse("{\"title\":\"44. A job is described beside its handler\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/44-jobs-describe-themselves.md\",\"filePath\":\"decisions/44-jobs-describe-themselves.md\"}");
var _sfc_main = { name: "decisions/44-jobs-describe-themselves.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_44-a-job-is-described-beside-its-handler" tabindex="-1">44. A job is described beside its handler <a class="header-anchor" href="#_44-a-job-is-described-beside-its-handler" aria-label="Permalink to “44. A job is described beside its handler”">​</a></h1><p><strong>Context.</strong> One queue, one retry policy and one list of handlers stood in three packages. A second kind of job would have shared the retries, the concurrency and the health of the first, and a busy queue would have hidden a stuck one.</p><p><strong>Decision.</strong> <code>defineJob</code> has name, queue, payload, attempts, backoff, timeout and concurrency in one place, in the capability that handles it. Handlers return <code>done</code> or a delay; a failed attempt throws. Health is judged for each queue.</p><p><strong>Consequence.</strong> A kind of job is one folder and one line in its face, and has a queue of its own. At first the settings of all queues were made from the definitions, and <code>WORKER_QUEUES</code> chose among them. With one queue, its three settings stand beside its job.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/44-jobs-describe-themselves.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _44_jobs_describe_themselves_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _44_jobs_describe_themselves_default as default };
