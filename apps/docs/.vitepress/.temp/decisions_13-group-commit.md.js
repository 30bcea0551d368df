import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/13-group-commit.md
var __pageData = JSON.parse("{\"title\":\"13. Registrations that wait together commit together\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/13-group-commit.md\",\"filePath\":\"decisions/13-group-commit.md\"}");
var _sfc_main = { name: "decisions/13-group-commit.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_13-registrations-that-wait-together-commit-together" tabindex="-1">13. Registrations that wait together commit together <a class="header-anchor" href="#_13-registrations-that-wait-together-commit-together" aria-label="Permalink to “13. Registrations that wait together commit together”">​</a></h1><p><strong>Context.</strong> One transaction per registration on one hot row is bound by the row&#39;s lock and the fsync: some hundreds a second.</p><p><strong>Decision.</strong> Registrations that wait share one statement and one commit. No timer: a group is what arrived while the last one was in flight.</p><p><strong>Consequence.</strong> Nearly all of the speed. The price is that outcomes come back by position, and that a bad row has to be looked for. See <a href="./../how-it-works/group-commit.html">Group commit</a>.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/13-group-commit.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _13_group_commit_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _13_group_commit_default as default };
