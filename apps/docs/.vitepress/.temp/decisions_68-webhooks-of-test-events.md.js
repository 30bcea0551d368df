import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/68-webhooks-of-test-events.md
var __pageData = JSON.parse("{\"title\":\"68. Webhooks of test events stay inside\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/68-webhooks-of-test-events.md\",\"filePath\":\"decisions/68-webhooks-of-test-events.md\"}");
var _sfc_main = { name: "decisions/68-webhooks-of-test-events.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_68-webhooks-of-test-events-stay-inside" tabindex="-1">68. Webhooks of test events stay inside <a class="header-anchor" href="#_68-webhooks-of-test-events-stay-inside" aria-label="Permalink to “68. Webhooks of test events stay inside”">​</a></h1><p><strong>Context.</strong> Partners want to try webhooks before the day. But a test event never sends anything to anybody outside (61): it is there to be abused, and who holds a test key only must not make the service call strangers.</p><p><strong>Decision.</strong> Webhooks of test events can be created and managed like all others, so that a partner&#39;s own code is exercised. They are delivered only where private addresses are allowed (<code>WEBHOOK_ALLOW_PRIVATE</code>, development), and then to private addresses only: the check of where a message may go, turned around. Everywhere else the endpoint is disabled with the reason <code>test_event</code>, and a test is noted as failed (<code>TEST_EVENT</code>). <code>webhook.test</code> under a live event tells nothing of anybody, and is how a receiver is tried.</p><p>Not taken: to refuse to create them (nothing of a partner&#39;s code would be tried); to send <code>webhook.test</code> alone for test events (a test key would be enough to have the service call any URL).</p><p><strong>Consequence.</strong> <code>npm start</code> sets <code>WEBHOOK_ALLOW_PRIVATE</code>, so its demo, a test event, tells receivers on the same machine. A stage that is meant to reach partners uses a live event.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/68-webhooks-of-test-events.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _68_webhooks_of_test_events_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _68_webhooks_of_test_events_default as default };
