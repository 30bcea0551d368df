import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/58-partners-take-turns.md
var __pageData = JSON.parse("{\"title\":\"58. Partners take turns\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/58-partners-take-turns.md\",\"filePath\":\"decisions/58-partners-take-turns.md\"}");
var _sfc_main = { name: "decisions/58-partners-take-turns.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_58-partners-take-turns" tabindex="-1">58. Partners take turns <a class="header-anchor" href="#_58-partners-take-turns" aria-label="Permalink to “58. Partners take turns”">​</a></h1><p><em>Changed by <a href="./74-one-admission-queue.html">74</a>.</em></p><p><strong>Context.</strong> Registrations waited in one queue. A partner that sent ten times as much as the service can do filled it, and nine of ten registrations of every other partner were refused with its own. A rate limit for each partner would have to be below its share of the worst day.</p><p><strong>Decision.</strong> Each shard has one queue per partner that waits, and groups are filled from the queues by deficit round robin (Shreedhar and Varghese). In a round a partner may take its share of one group, by weight. A partner that had nothing queued is served first, so a partner that wants less than its share is in the next group. Credit that is too small for a large call is kept, and a call that did not fit begins the next group: a bulk call is never divided. A full queue refuses the partner that fills it. Others are admitted up to their share, and with one call of any size. Weights are 1 to 100, set by <code>floodgate partner weigh</code>.</p><p><strong>Consequence.</strong> One partner alone is served first in, first out; two lookups cost about 5 ns of a registration&#39;s 60 µs. At most twice the limit and one call wait. Seats are shared fairly, per shard and API: a partner that sends more than an API can read needs a rate limit. Tried: bodies of bulk calls are parsed only when the event loop has nothing else to do (p50 of single calls 58 and 70 ms alone, 34 and 46 with it, but fewer bulk calls and no clear difference of p99; not kept). Not taken: to drop the newest items of the longest queue (the work of reading them would be lost), a queue per event (one partner may have a thousand), and shares of time instead of seats.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/58-partners-take-turns.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _58_partners_take_turns_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _58_partners_take_turns_default as default };
