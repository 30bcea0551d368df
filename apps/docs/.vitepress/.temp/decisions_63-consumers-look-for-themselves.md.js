import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/63-consumers-look-for-themselves.md
var __pageData = JSON.parse("{\"title\":\"63. Consumers of the journal look for themselves\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/63-consumers-look-for-themselves.md\",\"filePath\":\"decisions/63-consumers-look-for-themselves.md\"}");
var _sfc_main = { name: "decisions/63-consumers-look-for-themselves.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_63-consumers-of-the-journal-look-for-themselves" tabindex="-1">63. Consumers of the journal look for themselves <a class="header-anchor" href="#_63-consumers-of-the-journal-look-for-themselves" aria-label="Permalink to “63. Consumers of the journal look for themselves”">​</a></h1><p><strong>Context.</strong> E-mails, webhooks and whatever comes later read the journal (<a href="./51-a-journal-of-segments.html">51</a>), each from a cursor of its own. Something has to tell them that there is more. A job per delivery collapses where a receiver is away: hundreds of thousands wait for one endpoint. A doorbell in the queue may be lost, so somebody would have to look anyway.</p><p><strong>Decision.</strong> A consumer is a row: whose entries it reads, its cursor, where what is under way ends, and who has its lease. A delivery process looks every 200 ms: <code>leaseConsumers</code> gives it those that have something to read, the longest waiting first (<a href="./81-news-finds-its-consumers.html">how they are found</a>). Whoever has the lease delivers for a while, notes how far it has come with every message, and gives the lease back; of a process that was killed it ends after 25 s. There is no doorbell and no queue in between: deliveries go on where Redis is away, and registering and finalizing know nothing of them.</p><p>They run in a process of their own, <code>delivery</code>, with a database role of its own: it alone may read who attendees are, and it changes nothing of registrations. It is scaled by starting more of them.</p><p><strong>Consequence.</strong> A registration costs the same, whoever is told of it. A delivery begins up to 200 ms after its confirmation. Idle consumers cost nothing. The queue of a consumer is the journal itself: its lag is the age of the oldest entry after its cursor, also where it waits, is paused or slowed down, and everybody can read it (<code>floodgate queue status</code>, health and metrics of the process).</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/63-consumers-look-for-themselves.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _63_consumers_look_for_themselves_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _63_consumers_look_for_themselves_default as default };
