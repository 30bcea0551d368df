import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/11-migrations-are-a-command.md
var __pageData = JSON.parse("{\"title\":\"11. Migrations are a command, and newer schemas are accepted\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/11-migrations-are-a-command.md\",\"filePath\":\"decisions/11-migrations-are-a-command.md\"}");
var _sfc_main = { name: "decisions/11-migrations-are-a-command.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_11-migrations-are-a-command-and-newer-schemas-are-accepted" tabindex="-1">11. Migrations are a command, and newer schemas are accepted <a class="header-anchor" href="#_11-migrations-are-a-command-and-newer-schemas-are-accepted" aria-label="Permalink to “11. Migrations are a command, and newer schemas are accepted”">​</a></h1><p><strong>Context.</strong> Services that migrate at their start race, and need the owner&#39;s rights. A release must be able to go back.</p><p><strong>Decision.</strong> <code>floodgate migrate</code> migrates, as the owner. Migrations are forward only and never edited once released. API and worker refuse an older schema and accept a newer one; <code>migrate</code> leaves a newer one as it is.</p><p><strong>Consequence.</strong> Each release must run on the schema of the next: columns are added first, and removed one release later (<a href="./71-the-schema-is-sql-files.html">how</a>).</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/11-migrations-are-a-command.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _11_migrations_are_a_command_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _11_migrations_are_a_command_default as default };
