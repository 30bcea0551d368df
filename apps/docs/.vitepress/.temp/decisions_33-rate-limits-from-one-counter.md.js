import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/33-rate-limits-from-one-counter.md
var __pageData = JSON.parse("{\"title\":\"33. Rate limits draw from one counter in Postgres\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/33-rate-limits-from-one-counter.md\",\"filePath\":\"decisions/33-rate-limits-from-one-counter.md\"}");
var _sfc_main = { name: "decisions/33-rate-limits-from-one-counter.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_33-rate-limits-draw-from-one-counter-in-postgres" tabindex="-1">33. Rate limits draw from one counter in Postgres <a class="header-anchor" href="#_33-rate-limits-draw-from-one-counter-in-postgres" aria-label="Permalink to “33. Rate limits draw from one counter in Postgres”">​</a></h1><p><strong>Context.</strong> A limit is the partner&#39;s, over all processes. Stores of <code>@fastify/rate-limit</code> are asked for every request. <code>rate-limiter-flexible</code> 11.4 would count in Postgres as well, but tells the end of a window by each process&#39;s own clock: an API whose clock is stepped an hour ahead, one of the faults under test, would lock the partner out of every API for an hour. Headers of the plugin are those of an older draft.</p><p><strong>Decision.</strong> Processes draw several permits at a time from a counter in Postgres, by Postgres&#39;s clock, and spend them from memory (<a href="./../how-it-works/rate-limits.html">Rate limits</a>).</p><p><strong>Consequence.</strong> About a dozen draws a second and process under full load, and a limiter of our own with property tests.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/33-rate-limits-from-one-counter.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _33_rate_limits_from_one_counter_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _33_rate_limits_from_one_counter_default as default };
