import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/04-unique-indexes-decide-races.md
var __pageData = JSON.parse("{\"title\":\"4. Unique indexes decide races\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/04-unique-indexes-decide-races.md\",\"filePath\":\"decisions/04-unique-indexes-decide-races.md\"}");
var _sfc_main = { name: "decisions/04-unique-indexes-decide-races.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_4-unique-indexes-decide-races" tabindex="-1">4. Unique indexes decide races <a class="header-anchor" href="#_4-unique-indexes-decide-races" aria-label="Permalink to “4. Unique indexes decide races”">​</a></h1><p><strong>Context.</strong> Idempotency keys and attendees must be unique over all processes. Advisory locks or a look beforehand would be second mechanisms.</p><p><strong>Decision.</strong> Both are unique indexes. The loser gets a unique violation, and its batch runs again with a snapshot that shows the winner. What is unique goes in sorted, after the tickets were locked in id order.</p><p><strong>Consequence.</strong> Two batches never wait for each other. In different orders they could deadlock, and a whole batch was answered 90. Serials follow the order of requests only where nothing must be unique.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/04-unique-indexes-decide-races.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _04_unique_indexes_decide_races_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _04_unique_indexes_decide_races_default as default };
