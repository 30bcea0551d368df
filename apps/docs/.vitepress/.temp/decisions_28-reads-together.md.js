import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/28-reads-together.md
var __pageData = JSON.parse("{\"title\":\"28. Reads ride together\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/28-reads-together.md\",\"filePath\":\"decisions/28-reads-together.md\"}");
var _sfc_main = { name: "decisions/28-reads-together.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_28-reads-ride-together" tabindex="-1">28. Reads ride together <a class="header-anchor" href="#_28-reads-ride-together" aria-label="Permalink to “28. Reads ride together”">​</a></h1><p><strong>Context.</strong> Keys, event references and pass references can be made up. Thousands of statements queued for four connections, and every partner&#39;s own key, read once a second, behind them.</p><p><strong>Decision.</strong> A batch loader: a single statement under way, whoever asks (<a href="./../how-it-works/reads.html">Reads</a>).</p><p><strong>Consequence.</strong> A flood has one connection busy and no more. No queue forms in <code>pg-pool</code>, which removes those that waited too long in quadratic time.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/28-reads-together.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _28_reads_together_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _28_reads_together_default as default };
