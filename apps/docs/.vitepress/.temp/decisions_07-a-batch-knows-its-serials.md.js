import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/07-a-batch-knows-its-serials.md
var __pageData = JSON.parse("{\"title\":\"7. A batch knows its range of serials\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/07-a-batch-knows-its-serials.md\",\"filePath\":\"decisions/07-a-batch-knows-its-serials.md\"}");
var _sfc_main = { name: "decisions/07-a-batch-knows-its-serials.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_7-a-batch-knows-its-range-of-serials" tabindex="-1">7. A batch knows its range of serials <a class="header-anchor" href="#_7-a-batch-knows-its-range-of-serials" aria-label="Permalink to “7. A batch knows its range of serials”">​</a></h1><p><strong>Context.</strong> In the first plan a registration knew its batch, and an index found them back.</p><p><strong>Decision.</strong> The batch stores its first and last serial; its rows are found by the primary key. Other batches&#39; rows may lie between, and are told apart by <code>batch_id</code>.</p><p><strong>Consequence.</strong> One index less on the largest table.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/07-a-batch-knows-its-serials.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _07_a_batch_knows_its_serials_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _07_a_batch_knows_its_serials_default as default };
