import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/39-what-an-operator-takes-away.md
var __pageData = JSON.parse("{\"title\":\"39. What an operator takes away is an outage\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/39-what-an-operator-takes-away.md\",\"filePath\":\"decisions/39-what-an-operator-takes-away.md\"}");
var _sfc_main = { name: "decisions/39-what-an-operator-takes-away.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_39-what-an-operator-takes-away-is-an-outage" tabindex="-1">39. What an operator takes away is an outage <a class="header-anchor" href="#_39-what-an-operator-takes-away-is-an-outage" aria-label="Permalink to “39. What an operator takes away is an outage”">​</a></h1><p><strong>Context.</strong> Such things made requests fail with 99, wrote a log line for each, and gave batches up.</p><p><strong>Decision.</strong> Postgres without a privilege, table or column is treated like a Postgres that is away.</p><p><strong>Consequence.</strong> Given back, everything goes on without a restart.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/39-what-an-operator-takes-away.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _39_what_an_operator_takes_away_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _39_what_an_operator_takes_away_default as default };
