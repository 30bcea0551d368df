import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/18-own-array-literals.md
var __pageData = JSON.parse("{\"title\":\"18. Array literals of our own\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/18-own-array-literals.md\",\"filePath\":\"decisions/18-own-array-literals.md\"}");
var _sfc_main = { name: "decisions/18-own-array-literals.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_18-array-literals-of-our-own" tabindex="-1">18. Array literals of our own <a class="header-anchor" href="#_18-array-literals-of-our-own" aria-label="Permalink to “18. Array literals of our own”">​</a></h1><p><strong>Context.</strong> The driver escapes every element of an array with two regular expressions: for a batch that was most of what the client spent on it.</p><p><strong>Decision.</strong> Columns are written as Postgres array literals by <code>array-literals.ts</code>. A column that is null throughout becomes null.</p><p><strong>Consequence.</strong> 20 lines of escaping, property-tested.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/18-own-array-literals.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _18_own_array_literals_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _18_own_array_literals_default as default };
