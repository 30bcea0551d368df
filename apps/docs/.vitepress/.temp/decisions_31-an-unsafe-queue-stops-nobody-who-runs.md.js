import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/31-an-unsafe-queue-stops-nobody-who-runs.md
var __pageData = JSON.parse("{\"title\":\"31. A queue that could lose jobs stops nobody who runs\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/31-an-unsafe-queue-stops-nobody-who-runs.md\",\"filePath\":\"decisions/31-an-unsafe-queue-stops-nobody-who-runs.md\"}");
var _sfc_main = { name: "decisions/31-an-unsafe-queue-stops-nobody-who-runs.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_31-a-queue-that-could-lose-jobs-stops-nobody-who-runs" tabindex="-1">31. A queue that could lose jobs stops nobody who runs <a class="header-anchor" href="#_31-a-queue-that-could-lose-jobs-stops-nobody-who-runs" aria-label="Permalink to “31. A queue that could lose jobs stops nobody who runs”">​</a></h1><p><strong>Context.</strong> A Redis that evicts could throw jobs away. It used to end every running API and worker when its policy changed.</p><p><strong>Decision.</strong> At its start a process refuses such a Redis. A running one logs an error, once, and goes on.</p><p><strong>Consequence.</strong> Somebody is there at a start, to mend it. Nothing is lost either way: the relay finds what was evicted.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/31-an-unsafe-queue-stops-nobody-who-runs.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _31_an_unsafe_queue_stops_nobody_who_runs_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _31_an_unsafe_queue_stops_nobody_who_runs_default as default };
