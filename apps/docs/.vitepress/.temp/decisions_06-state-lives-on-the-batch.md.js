import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/06-state-lives-on-the-batch.md
var __pageData = JSON.parse("{\"title\":\"6. State lives on the batch\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/06-state-lives-on-the-batch.md\",\"filePath\":\"decisions/06-state-lives-on-the-batch.md\"}");
var _sfc_main = { name: "decisions/06-state-lives-on-the-batch.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_6-state-lives-on-the-batch" tabindex="-1">6. State lives on the batch <a class="header-anchor" href="#_6-state-lives-on-the-batch" aria-label="Permalink to “6. State lives on the batch”">​</a></h1><p><strong>Context.</strong> Confirming each registration by itself writes every row a second time.</p><p><strong>Decision.</strong> Registrations have no state of their own but the time of their cancellation. The batch has it.</p><p><strong>Consequence.</strong> To read a registration&#39;s state takes a join. See <a href="./../performance/where-the-time-goes.html">what it buys</a>.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/06-state-lives-on-the-batch.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _06_state_lives_on_the_batch_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _06_state_lives_on_the_batch_default as default };
