import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/16-groups-of-2000.md
var __pageData = JSON.parse("{\"title\":\"16. Groups of up to 2,000\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/16-groups-of-2000.md\",\"filePath\":\"decisions/16-groups-of-2000.md\"}");
var _sfc_main = { name: "decisions/16-groups-of-2000.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_16-groups-of-up-to-2-000" tabindex="-1">16. Groups of up to 2,000 <a class="header-anchor" href="#_16-groups-of-up-to-2-000" aria-label="Permalink to “16. Groups of up to 2,000”">​</a></h1><p><strong>Context.</strong> The first plan had about 500. Under overload the event loop is busy, a group comes round only every 100 to 200 ms, and what is accepted is groups × their size.</p><p><strong>Decision.</strong> <code>BATCH_LIMIT</code> is 2,000.</p><p><strong>Consequence.</strong> Below 500 connections nothing changes.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/16-groups-of-2000.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _16_groups_of_2000_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _16_groups_of_2000_default as default };
