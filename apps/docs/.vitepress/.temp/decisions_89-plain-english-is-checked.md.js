import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/89-plain-english-is-checked.md
var __pageData = JSON.parse("{\"title\":\"89. Plain English is checked\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/89-plain-english-is-checked.md\",\"filePath\":\"decisions/89-plain-english-is-checked.md\"}");
var _sfc_main = { name: "decisions/89-plain-english-is-checked.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_89-plain-english-is-checked" tabindex="-1">89. Plain English is checked <a class="header-anchor" href="#_89-plain-english-is-checked" aria-label="Permalink to “89. Plain English is checked”">​</a></h1><p><strong>Context.</strong> Comments and documents had grown a dialect: &quot;in vain&quot;, &quot;anew&quot;, &quot;whoever&quot;, &quot;is told of&quot;, sentences whose subject is a clause (&quot;Who has the lease reads&quot;). It was the largest daily cost for a reader who is not a native speaker.</p><p><strong>Decision.</strong> <code>packages/toolchain/english.mjs</code> finds five kinds of such phrases in Markdown, code comments and messages, and <code>npm run check</code> fails when it finds one. It is forty lines of patterns. textlint was considered: its rules judge style in general, and none of them knows this dialect.</p><p><strong>Consequence.</strong> The words are a list, so a new phrase of the same kind is found by a reader first. Tests, the changelog and decisions are left out: decisions are history.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/89-plain-english-is-checked.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _89_plain_english_is_checked_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _89_plain_english_is_checked_default as default };
