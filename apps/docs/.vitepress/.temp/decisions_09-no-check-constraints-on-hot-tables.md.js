import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/09-no-check-constraints-on-hot-tables.md
var __pageData = JSON.parse("{\"title\":\"9. No check constraints on hot tables\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/09-no-check-constraints-on-hot-tables.md\",\"filePath\":\"decisions/09-no-check-constraints-on-hot-tables.md\"}");
var _sfc_main = { name: "decisions/09-no-check-constraints-on-hot-tables.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_9-no-check-constraints-on-hot-tables" tabindex="-1">9. No check constraints on hot tables <a class="header-anchor" href="#_9-no-check-constraints-on-hot-tables" aria-label="Permalink to “9. No check constraints on hot tables”">​</a></h1><p><strong>Context.</strong> Postgres parses a table&#39;s check constraints anew in every statement that writes to the table. With a dozen of them that was a good part of what a small batch costs.</p><p><strong>Decision.</strong> What every batch writes to has none but the two that guard the seats and the books. Lengths are types, states an enum, titles and prices domains.</p><p><strong>Consequence.</strong> Lengths are four times the API&#39;s, because a database whose encoding is not UTF-8 would count bytes.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/09-no-check-constraints-on-hot-tables.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _09_no_check_constraints_on_hot_tables_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _09_no_check_constraints_on_hot_tables_default as default };
