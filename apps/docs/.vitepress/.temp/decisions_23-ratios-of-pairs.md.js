import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/23-ratios-of-pairs.md
var __pageData = JSON.parse("{\"title\":\"23. The benchmark compares neighbouring pairs\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/23-ratios-of-pairs.md\",\"filePath\":\"decisions/23-ratios-of-pairs.md\"}");
var _sfc_main = { name: "decisions/23-ratios-of-pairs.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_23-the-benchmark-compares-neighbouring-pairs" tabindex="-1">23. The benchmark compares neighbouring pairs <a class="header-anchor" href="#_23-the-benchmark-compares-neighbouring-pairs" aria-label="Permalink to “23. The benchmark compares neighbouring pairs”">​</a></h1><p><strong>Context.</strong> The machine changes its speed from minute to minute, and <a href="./../performance/where-the-time-goes.html#the-spread-between-processes">so do processes of the same code</a>. A single figure mostly tells how busy the machine was.</p><p><strong>Decision.</strong> What counts is the median of ratios between runs that follow each other (<a href="./../performance/benchmark.html#how-it-keeps-honest">how</a>).</p><p><strong>Consequence.</strong> A full benchmark takes 12 minutes, and absolute figures are given with their commit.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/23-ratios-of-pairs.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _23_ratios_of_pairs_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _23_ratios_of_pairs_default as default };
