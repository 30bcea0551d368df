import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/81-news-finds-its-consumers.md
var __pageData = JSON.parse("{\"title\":\"81. News finds its consumers\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/81-news-finds-its-consumers.md\",\"filePath\":\"decisions/81-news-finds-its-consumers.md\"}");
var _sfc_main = { name: "decisions/81-news-finds-its-consumers.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_81-news-finds-its-consumers" tabindex="-1">81. News finds its consumers <a class="header-anchor" href="#_81-news-finds-its-consumers" aria-label="Permalink to “81. News finds its consumers”">​</a></h1><p><strong>Context.</strong> Delivery processes poll for consumers that have something to read (<a href="./63-consumers-look-for-themselves.html">63</a>). Each poll probed the journal once for every consumer, five times a second. With 1,000 idle webhooks that took 12.7 % of a core, and 10,000 did not work. Health checks and metrics did the same.</p><p><strong>Decision.</strong> A consumer stores <code>news_offset</code>, the last entry for it that was found. It is behind if that is greater than its cursor. <code>find_news</code> scans each new segment of a shard once and raises <code>news_offset</code> of the consumers of its event and partner. It runs as part of the poll; the row in <code>consumer_scans</code> says how far it came, and its lock lets one process scan at a time. A partial index contains only consumers that are behind, so a poll with nothing new reads two rows.</p><ul><li>A new consumer has no <code>news_offset</code>. It counts as behind, is leased once, and reads the journal to its end. So a scan at the same moment cannot miss it, and nobody waits for a lock.</li><li>A run that has read to the end makes its consumer idle, unless <code>news_offset</code> has changed since the lease.</li><li>The lag scans too, so it grows also if no delivery process runs.</li></ul><p><strong>Rejected.</strong> Remembering the head at which each consumer last found nothing: each new segment would make all of them look again. Marking consumers in finalization: it would wait for their row locks while it holds the head of the journal. <code>NOTIFY</code>: it takes a lock on the whole database at each commit.</p><p><strong>Consequence.</strong> Polling costs what there is to deliver. Deliveries start as soon as before. <code>test/journal/idle-consumers.test.ts</code> counts the rows.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/81-news-finds-its-consumers.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _81_news_finds_its_consumers_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _81_news_finds_its_consumers_default as default };
