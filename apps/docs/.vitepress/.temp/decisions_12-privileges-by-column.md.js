import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/12-privileges-by-column.md
var __pageData = JSON.parse("{\"title\":\"12. Privileges per service, as SQL\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/12-privileges-by-column.md\",\"filePath\":\"decisions/12-privileges-by-column.md\"}");
var _sfc_main = { name: "decisions/12-privileges-by-column.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_12-privileges-per-service-as-sql" tabindex="-1">12. Privileges per service, as SQL <a class="header-anchor" href="#_12-privileges-per-service-as-sql" aria-label="Permalink to “12. Privileges per service, as SQL”">​</a></h1><p><strong>Context.</strong> One database user for all means that whoever breaks into an API reads every attendee.</p><p><strong>Decision.</strong> API, worker and delivery have roles of their own. What each may do is a file of <code>grant</code> statements, <code>packages/database/sql/grants/&lt;service&gt;.sql</code>, which psql can run. <code>floodgate grant</code> makes a role hold exactly that and records the role; <code>migrate</code> repeats the grants. At its start a service parses its file, asks Postgres whether it holds each privilege, and does not start if one is missing. Columns are listed only for secrets, attendee data and updates.</p><p><strong>Consequence.</strong> A first version declared every column of every table in TypeScript, so that a new table did not compile until somebody had decided. That was 423 lines, which most changes had to touch and which said nothing about functions. Now a test lists the tables and executes every function as every role. The API inserts attendees&#39; data and cannot read it back, so no statement of the API may return those columns.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/12-privileges-by-column.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _12_privileges_by_column_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _12_privileges_by_column_default as default };
