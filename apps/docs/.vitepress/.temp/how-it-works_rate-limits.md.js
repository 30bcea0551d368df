import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/how-it-works/rate-limits.md
var __pageData = JSON.parse("{\"title\":\"Rate limits\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"how-it-works/rate-limits.md\",\"filePath\":\"how-it-works/rate-limits.md\"}");
var _sfc_main = { name: "how-it-works/rate-limits.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="rate-limits" tabindex="-1">Rate limits <a class="header-anchor" href="#rate-limits" aria-label="Permalink to “Rate limits”">​</a></h1><p>A limit applies to a partner, not to a process or a key. Code: <code>packages/partners/src/limits.ts</code> and <code>packages/database/src/limits/quota-lease.ts</code>.</p><p>All API processes draw permits from one counter in Postgres (<code>drawPermits</code>), several at a time, and spend them from memory. The permits of one process are its <strong>quota lease</strong>. Under full load a process draws about a dozen times a second.</p><ul><li><strong>All processes together never admit more than the limit in a second</strong>: a permit expires with the second in which it was drawn.</li><li><strong>A process does not keep permits that another process could use</strong>: it draws ahead at most as many as it has spent in that second, and at most a tenth of the limit.</li><li><strong>Only Postgres&#39;s clock counts.</strong> A process with a wrong clock does no harm. If Postgres&#39;s clock steps back, a second lasts up to one second longer, or the count starts again.</li><li><strong>If the counter does not answer</strong> within 500 ms, each process applies the whole limit by itself for a second, logs that, and then asks again. No registration fails because of it.</li><li>The table is unlogged and has one row for each limited partner. A crash can lose the counts, and no draw waits for an fsync.</li></ul><p>With a limit below about 20 a second, permits are drawn one or two at a time, so there is almost one draw for each request.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("how-it-works/rate-limits.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var rate_limits_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, rate_limits_default as default };
