import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/20-get-tickets-as-text.md
var __pageData = JSON.parse("{\"title\":\"20. Get Tickets is kept as text\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/20-get-tickets-as-text.md\",\"filePath\":\"decisions/20-get-tickets-as-text.md\"}");
var _sfc_main = { name: "decisions/20-get-tickets-as-text.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_20-get-tickets-is-kept-as-text" tabindex="-1">20. Get Tickets is kept as text <a class="header-anchor" href="#_20-get-tickets-is-kept-as-text" aria-label="Permalink to “20. Get Tickets is kept as text”">​</a></h1><p><strong>Context.</strong> The list is the same for everybody under an event, and serializing it was a good part of what the route costs.</p><p><strong>Decision.</strong> The cache holds the very text of the answer, for a second. It is sent, not returned: a promise for what is at hand would be a good part of the rest.</p><p><strong>Consequence.</strong> A cast in one route. The list is up to a second old, as the API&#39;s reference says.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/20-get-tickets-as-text.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _20_get_tickets_as_text_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _20_get_tickets_as_text_default as default };
