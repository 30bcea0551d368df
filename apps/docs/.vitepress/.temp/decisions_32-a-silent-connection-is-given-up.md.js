import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/32-a-silent-connection-is-given-up.md
var __pageData = JSON.parse("{\"title\":\"32. A silent connection is given up\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/32-a-silent-connection-is-given-up.md\",\"filePath\":\"decisions/32-a-silent-connection-is-given-up.md\"}");
var _sfc_main = { name: "decisions/32-a-silent-connection-is-given-up.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_32-a-silent-connection-is-given-up" tabindex="-1">32. A silent connection is given up <a class="header-anchor" href="#_32-a-silent-connection-is-given-up" aria-label="Permalink to “32. A silent connection is given up”">​</a></h1><p><strong>Context.</strong> A host or NAT that forgets a connection says nothing. Finalization stood still for as long as that lasted, although new connections worked.</p><p><strong>Decision.</strong> A connection that owes an answer is closed after 5 s (producers) or 15 s (consumers).</p><p><strong>Consequence.</strong> Consumers have to be more patient than producers. The figures and their reasons are in <a href="./../how-it-works/outbox.html#connections-to-the-queue">Outbox</a>.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/32-a-silent-connection-is-given-up.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _32_a_silent_connection_is_given_up_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _32_a_silent_connection_is_given_up_default as default };
