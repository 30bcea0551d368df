import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/29-lock-timeout-and-skip-locked.md
var __pageData = JSON.parse("{\"title\":\"29. A locked ticket stops its own buyers\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/29-lock-timeout-and-skip-locked.md\",\"filePath\":\"decisions/29-lock-timeout-and-skip-locked.md\"}");
var _sfc_main = { name: "decisions/29-lock-timeout-and-skip-locked.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_29-a-locked-ticket-stops-its-own-buyers" tabindex="-1">29. A locked ticket stops its own buyers <a class="header-anchor" href="#_29-a-locked-ticket-stops-its-own-buyers" aria-label="Permalink to “29. A locked ticket stops its own buyers”">​</a></h1><p><strong>Context.</strong> A group holds several tickets. One row that a forgotten transaction holds kept everybody waiting, in every API.</p><p><strong>Decision.</strong> The statement bounds its own wait. Which tickets are in the way is then asked for, and only their buyers are refused (<a href="./../how-it-works/locked-tickets.html">Locked tickets</a>).</p><p><strong>Consequence.</strong> The others wait for a second or so. Letting the buyers of a locked ticket wait apart was built and taken out again: 60 lines in the most delicate place, for 90s that a retry mends.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/29-lock-timeout-and-skip-locked.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _29_lock_timeout_and_skip_locked_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _29_lock_timeout_and_skip_locked_default as default };
