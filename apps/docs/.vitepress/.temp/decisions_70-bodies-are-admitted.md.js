import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/70-bodies-are-admitted.md
var __pageData = JSON.parse("{\"title\":\"70. Bodies are admitted before they are parsed\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/70-bodies-are-admitted.md\",\"filePath\":\"decisions/70-bodies-are-admitted.md\"}");
var _sfc_main = { name: "decisions/70-bodies-are-admitted.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_70-bodies-are-admitted-before-they-are-parsed" tabindex="-1">70. Bodies are admitted before they are parsed <a class="header-anchor" href="#_70-bodies-are-admitted-before-they-are-parsed" aria-label="Permalink to “70. Bodies are admitted before they are parsed”">​</a></h1><p><strong>Context.</strong> A bulk body of 1 MiB can hold 349,000 empty objects. Parsing and validating them took 3.8 s, in which the process answered nobody. Bodies that never end filled its memory.</p><p><strong>Decision.</strong> A body passes four checks, each cheaper than the next step: the rate limit, by size; room for its bytes, 16 MiB per partner and 64 MiB per process, until the call is answered; the number of its JSON values, counted over the bytes in 1 ms for 1 MiB, at most 65,536 of a bulk call and 1,024 of any other; the number of registrations. Only then does the validator see at most 1,000 of them.</p><p><strong>Consequence.</strong> The longest pause is that of 1,000 registrations of which every field is wrong. A partner pays one request for 4 KiB of body, which a call with valid registrations of ordinary size never notices. A chunked body counts as the largest for memory, and by its real size for the rate limit. A body above the room gets 90 and its connection is closed, since to keep it open the process would have to read the body to its end. To try a body in parts while it arrives was not needed.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/70-bodies-are-admitted.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _70_bodies_are_admitted_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _70_bodies_are_admitted_default as default };
