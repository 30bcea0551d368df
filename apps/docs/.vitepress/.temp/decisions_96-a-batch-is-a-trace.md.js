import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/96-a-batch-is-a-trace.md
var __pageData = JSON.parse("{\"title\":\"96. A batch is a trace\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/96-a-batch-is-a-trace.md\",\"filePath\":\"decisions/96-a-batch-is-a-trace.md\"}");
var _sfc_main = { name: "decisions/96-a-batch-is-a-trace.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_96-a-batch-is-a-trace" tabindex="-1">96. A batch is a trace <a class="header-anchor" href="#_96-a-batch-is-a-trace" aria-label="Permalink to “96. A batch is a trace”">​</a></h1><p><strong>Context.</strong> A registration passes through the API, the queue, a worker and a delivery process. To follow it, each process would have to hand a trace context to the next one: a column in <code>batches</code>, a field in each job, and more text in each statement, for a feature that is off.</p><p><strong>Decision.</strong> The id of a batch has 128 bits, as the id of a trace has. So it is the id of the trace, its second half is the id of the first span (the commit), and its last digits decide whether the batch is traced. Each process knows all of it from the batch id that it has anyway. With <code>TRACES_URL</code>, processes send spans by OpenTelemetry&#39;s library: the requests of the batch with their request ids, the commit, the finalization, each e-mail and each attempt to send a webhook message. A message has entries of many batches, so it has a span in each of their traces.</p><p><strong>Consequences.</strong> Nothing is stored or sent for traces, and without <code>TRACES_URL</code> no library is loaded. A partner&#39;s own trace is not continued: a batch has the requests of many partners. The access log names the batch of each request, so logs can be followed without traces, too.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/96-a-batch-is-a-trace.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _96_a_batch_is_a_trace_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _96_a_batch_is_a_trace_default as default };
