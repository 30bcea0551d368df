import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/05-a-check-constraint-behind-the-count.md
var __pageData = JSON.parse("{\"title\":\"5. A check constraint stands behind the count\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/05-a-check-constraint-behind-the-count.md\",\"filePath\":\"decisions/05-a-check-constraint-behind-the-count.md\"}");
var _sfc_main = { name: "decisions/05-a-check-constraint-behind-the-count.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_5-a-check-constraint-stands-behind-the-count" tabindex="-1">5. A check constraint stands behind the count <a class="header-anchor" href="#_5-a-check-constraint-stands-behind-the-count" aria-label="Permalink to “5. A check constraint stands behind the count”">​</a></h1><p><strong>Context.</strong> The batch statement locks a ticket and counts its seats. Somebody will write to that table by other means one day.</p><p><strong>Decision.</strong> <code>taken between 0 and capacity</code> is a check constraint on <code>tickets</code>.</p><p><strong>Consequence.</strong> An oversell is impossible, whoever writes the SQL. It is one of two checks that stay on tables which every batch writes.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/05-a-check-constraint-behind-the-count.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _05_a_check_constraint_behind_the_count_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _05_a_check_constraint_behind_the_count_default as default };
