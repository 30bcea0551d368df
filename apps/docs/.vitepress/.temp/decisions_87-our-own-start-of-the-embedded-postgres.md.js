import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/87-our-own-start-of-the-embedded-postgres.md
var __pageData = JSON.parse("{\"title\":\"87. The embedded Postgres keeps a start of our own\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/87-our-own-start-of-the-embedded-postgres.md\",\"filePath\":\"decisions/87-our-own-start-of-the-embedded-postgres.md\"}");
var _sfc_main = { name: "decisions/87-our-own-start-of-the-embedded-postgres.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_87-the-embedded-postgres-keeps-a-start-of-our-own" tabindex="-1">87. The embedded Postgres keeps a start of our own <a class="header-anchor" href="#_87-the-embedded-postgres-keeps-a-start-of-our-own" aria-label="Permalink to “87. The embedded Postgres keeps a start of our own”">​</a></h1><p><strong>Context.</strong> <code>embedded-postgres</code> can initialize, start and stop a server by itself, and <code>proper-lockfile</code> and <code>get-port</code> could replace our lock and our search for ports. Some 300 lines would go.</p><p><strong>Decision.</strong> None of them is used beyond the programs that the package brings (<a href="./35-embedded-postgres-binaries-only.html">35</a>).</p><ul><li><code>initialise</code> writes the superuser&#39;s password to a file in the temporary directory that every user can read. It fails as root where there is no user <code>postgres</code>, as in most containers. An interrupted run leaves a directory that the next start takes for a database.</li><li><code>start</code> runs Postgres in the process group of the terminal, so Ctrl-C stops it before the API has answered. A server that a killed parent left behind is not found.</li><li><code>proper-lockfile</code> considers a lock stale by its age. After <code>kill -9</code> a new start would wait for ten seconds; ours compares the process id and its command line, and starts at once.</li><li><code>get-port</code> knows the ports of its own process only. Test workers and several <code>npm start</code> search at the same time.</li></ul><p><strong>Consequence.</strong> <code>packages/embedded-postgres</code> stays, and tests use it as well.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/87-our-own-start-of-the-embedded-postgres.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _87_our_own_start_of_the_embedded_postgres_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _87_our_own_start_of_the_embedded_postgres_default as default };
