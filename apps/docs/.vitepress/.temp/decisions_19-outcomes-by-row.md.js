import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/19-outcomes-by-row.md
var __pageData = JSON.parse("{\"title\":\"19. Outcomes come one row per registration\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/19-outcomes-by-row.md\",\"filePath\":\"decisions/19-outcomes-by-row.md\"}");
var _sfc_main = { name: "decisions/19-outcomes-by-row.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_19-outcomes-come-one-row-per-registration" tabindex="-1">19. Outcomes come one row per registration <a class="header-anchor" href="#_19-outcomes-come-one-row-per-registration" aria-label="Permalink to “19. Outcomes come one row per registration”">​</a></h1><p><strong>Context.</strong> Reading a row for each registration costs a little of the API&#39;s time, and the outcome join a little of Postgres&#39;s.</p><p><strong>Decision.</strong> They stay. Tried: outcomes as one row instead of one per registration; a leaner statement without the outcome join.</p><p><strong>Consequence.</strong> (Overtaken by <a href="./50-a-batch-is-a-function.html">50</a>.) Both gained little; the leaner statement would have been a second place that knows the order of refusals.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/19-outcomes-by-row.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _19_outcomes_by_row_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _19_outcomes_by_row_default as default };
