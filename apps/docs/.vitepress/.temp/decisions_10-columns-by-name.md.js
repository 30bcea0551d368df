import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/10-columns-by-name.md
var __pageData = JSON.parse("{\"title\":\"10. Statements name their columns\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/10-columns-by-name.md\",\"filePath\":\"decisions/10-columns-by-name.md\"}");
var _sfc_main = { name: "decisions/10-columns-by-name.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_10-statements-name-their-columns" tabindex="-1">10. Statements name their columns <a class="header-anchor" href="#_10-statements-name-their-columns" aria-label="Permalink to “10. Statements name their columns”">​</a></h1><p><strong>Context.</strong> Services prepare their statements. Postgres refuses a prepared one (0A000) once a migration has given <code>select *</code> another column: a migration that added a column to <code>tickets</code> made every Get Tickets of running APIs fail with 99.</p><p><strong>Decision.</strong> Statements name the columns that they read.</p><p><strong>Consequence.</strong> A release runs while the next one migrates. A test gives every table a column more under a running API.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/10-columns-by-name.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _10_columns_by_name_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _10_columns_by_name_default as default };
