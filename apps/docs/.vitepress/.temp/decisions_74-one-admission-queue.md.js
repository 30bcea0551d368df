import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/74-one-admission-queue.md
var __pageData = JSON.parse("{\"title\":\"74. One admission queue\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/74-one-admission-queue.md\",\"filePath\":\"decisions/74-one-admission-queue.md\"}");
var _sfc_main = { name: "decisions/74-one-admission-queue.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_74-one-admission-queue" tabindex="-1">74. One admission queue <a class="header-anchor" href="#_74-one-admission-queue" aria-label="Permalink to “74. One admission queue”">​</a></h1><p><strong>Context.</strong> Seven modules decided which registrations wait, are refused, commit together and are answered, and called each other back. An eighth made large bulk calls wait, with a waiting room of its own and a decorator that watched for single calls. A registration entered these modules four times.</p><p><strong>Decision.</strong> <code>packages/registrations/src/admission/</code> admits registrations, cancellations and confirmations. <code>PartnerQueues</code> holds one queue per partner and fills groups by deficit round robin. <code>AdmissionQueue</code> is the state machine: idle, committing, answering. It measures groups, and each shard has one of its own. Three rules changed:</p><ul><li>A group has one large call at most while small calls wait. Before, a group with a large call was followed by one without (<a href="./58-partners-take-turns.html">58</a>).</li><li>Large calls wait in the fair queue that lists use. The rule of decision <a href="./62-large-calls-take-turns.html">62</a> stays: one at a time beside small calls, after an idle moment of the event loop or 0.1 s. The queue itself knows when the last small call was submitted.</li><li>On Citus the next group leaves as on one Postgres: when as many calls wait as are unanswered (<a href="./14-when-the-next-group-leaves.html">14</a>). Before, it left after the last answer. One rule is worth more than the difference, and other shards use the time either way.</li></ul><p>Provoked codes of test mode are decided in the routes. A circuit breaker&#39;s open tickets are set aside when a group commits, not when a call is submitted.</p><p><strong>Consequence.</strong> A registration enters the queue twice: to be admitted before its body is read, and to be submitted. On its way through this package it passes 7 files instead of 18, in one direction. No group has two large calls while small ones wait; a small call can still wait for one in flight and one in its own group.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/74-one-admission-queue.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _74_one_admission_queue_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _74_one_admission_queue_default as default };
