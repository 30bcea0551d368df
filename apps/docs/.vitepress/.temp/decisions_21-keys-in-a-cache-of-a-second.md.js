import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/21-keys-in-a-cache-of-a-second.md
var __pageData = JSON.parse("{\"title\":\"21. Keys are remembered for a second, found whole\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/21-keys-in-a-cache-of-a-second.md\",\"filePath\":\"decisions/21-keys-in-a-cache-of-a-second.md\"}");
var _sfc_main = { name: "decisions/21-keys-in-a-cache-of-a-second.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_21-keys-are-remembered-for-a-second-found-whole" tabindex="-1">21. Keys are remembered for a second, found whole <a class="header-anchor" href="#_21-keys-are-remembered-for-a-second-found-whole" aria-label="Permalink to “21. Keys are remembered for a second, found whole”">​</a></h1><p><strong>Context.</strong> Every request carries a key. Reading and hashing each would cost more than the rest of a Get Tickets.</p><p><strong>Decision.</strong> What a key and event reference open is remembered for a second from the moment its reading began, under the whole text of both. Text that can be no key is not remembered.</p><p><strong>Consequence.</strong> Revoking a key takes up to 2 s to reach everywhere. Remembering anything that was sent would let anybody pin 150 MB.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/21-keys-in-a-cache-of-a-second.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _21_keys_in_a_cache_of_a_second_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _21_keys_in_a_cache_of_a_second_default as default };
