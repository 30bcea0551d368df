import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/02-fence-the-batch-id.md
var __pageData = JSON.parse("{\"title\":\"2. A lost attempt loses its id\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/02-fence-the-batch-id.md\",\"filePath\":\"decisions/02-fence-the-batch-id.md\"}");
var _sfc_main = { name: "decisions/02-fence-the-batch-id.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_2-a-lost-attempt-loses-its-id" tabindex="-1">2. A lost attempt loses its id <a class="header-anchor" href="#_2-a-lost-attempt-loses-its-id" aria-label="Permalink to “2. A lost attempt loses its id”">​</a></h1><p><em>Replaced by <a href="./75-a-lost-batch-is-sent-again.html">75</a>.</em></p><p><strong>Context.</strong> After a lost connection the first plan looked for the batch&#39;s id, and ran the batch again if it was not found. Not found does not mean never: the statement may still be on its way, and would commit behind the second one.</p><p><strong>Decision.</strong> The id is taken away first, by inserting an empty row under it. Only then the batch runs again, under another id.</p><p><strong>Consequence.</strong> An attempt has committed, or never will. Rows of state <code>void</code> remain. See <a href="./../how-it-works/exactly-once.html">Exactly once</a>.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/02-fence-the-batch-id.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _02_fence_the_batch_id_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _02_fence_the_batch_id_default as default };
