import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/17-prepared-statements.md
var __pageData = JSON.parse("{\"title\":\"17. The batch statement is prepared once per connection\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/17-prepared-statements.md\",\"filePath\":\"decisions/17-prepared-statements.md\"}");
var _sfc_main = { name: "decisions/17-prepared-statements.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_17-the-batch-statement-is-prepared-once-per-connection" tabindex="-1">17. The batch statement is prepared once per connection <a class="header-anchor" href="#_17-the-batch-statement-is-prepared-once-per-connection" aria-label="Permalink to “17. The batch statement is prepared once per connection”">​</a></h1><p><strong>Context.</strong> Planning it took longer than running it.</p><p><strong>Decision.</strong> Services prepare each statement once per connection. Parts that a batch does not need are left empty, and planned away.</p><p><strong>Consequence.</strong> The statement is put together from parts. PgBouncer needs 1.21 or newer where it pools transactions.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/17-prepared-statements.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _17_prepared_statements_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _17_prepared_statements_default as default };
