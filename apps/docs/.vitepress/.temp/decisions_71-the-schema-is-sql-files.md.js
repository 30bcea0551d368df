import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/71-the-schema-is-sql-files.md
var __pageData = JSON.parse("{\"title\":\"71. The schema is SQL files\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/71-the-schema-is-sql-files.md\",\"filePath\":\"decisions/71-the-schema-is-sql-files.md\"}");
var _sfc_main = { name: "decisions/71-the-schema-is-sql-files.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_71-the-schema-is-sql-files" tabindex="-1">71. The schema is SQL files <a class="header-anchor" href="#_71-the-schema-is-sql-files" aria-label="Permalink to “71. The schema is SQL files”">​</a></h1><p><strong>Context.</strong> The schema was 15 migrations in TypeScript, some of which imported code that was edited later, and a builder for keys that ran beside them. Functions were text templates in four places. To read <code>cancel_registrations</code> one had to open four files. Nothing had been released, but a second generation of keys, a trigger and <code>migrate --finish</code> served databases of earlier commits.</p><p><strong>Decision.</strong> <code>packages/database/sql</code> has three folders of plain SQL, which psql can run. <code>tables/NNNN-name.sql</code> run once, in order. <code>functions/&lt;name&gt;.sql</code> have one function each, and a changed file replaces its function. <code>grants/&lt;service&gt;.sql</code> say what each service may do. <code>floodgate migrate</code> applies all of it in one transaction and records name, hash and release of each file in <code>schema_files</code>. The 15 migrations became one file.</p><p>A function is dropped and created, because two functions of one name with different arguments could both match a call. Grants are repeated in the same transaction, so open connections do not notice. The release decides which version of a function is newer: <code>migrate</code> of an older release leaves it as it is. Kysely&#39;s migrator was removed, because it knows neither functions nor releases, and a newer schema is an error to it.</p><p><strong>Consequence.</strong> An upgrade is one command. Two releases run side by side as long as changes are additive: a new argument has a default, and a removal comes one release later. <code>create index concurrently</code> cannot run in a transaction. The first release that needs it on a large table will need a file that runs outside of one.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/71-the-schema-is-sql-files.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _71_the_schema_is_sql_files_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _71_the_schema_is_sql_files_default as default };
