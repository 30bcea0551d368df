import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/47-sessions-set-what-they-rely-on.md
var __pageData = JSON.parse("{\"title\":\"47. Each session sets what the code relies on\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/47-sessions-set-what-they-rely-on.md\",\"filePath\":\"decisions/47-sessions-set-what-they-rely-on.md\"}");
var _sfc_main = { name: "decisions/47-sessions-set-what-they-rely-on.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_47-each-session-sets-what-the-code-relies-on" tabindex="-1">47. Each session sets what the code relies on <a class="header-anchor" href="#_47-each-session-sets-what-the-code-relies-on" aria-label="Permalink to “47. Each session sets what the code relies on”">​</a></h1><p><strong>Context.</strong> A server, database or role may have another date style, isolation level or reading of strings. Repeatable read as the default made a third of the registrations fail with 90, another date style than ISO made Get Tickets fail with 99.</p><p><strong>Decision.</strong> Each connection runs <code>set …</code> when it is opened. Not as startup parameters, which PgBouncer refuses unless it knows them.</p><p><strong>Consequence.</strong> Nobody needs to know of those defaults, but behind a PgBouncer that pools transactions, where the role has to <a href="./../operate/servers.html#pgbouncer">have them</a>. One round trip for each new connection.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/47-sessions-set-what-they-rely-on.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _47_sessions_set_what_they_rely_on_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _47_sessions_set_what_they_rely_on_default as default };
