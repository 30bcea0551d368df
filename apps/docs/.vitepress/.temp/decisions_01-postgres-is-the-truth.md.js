import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/01-postgres-is-the-truth.md
var __pageData = JSON.parse("{\"title\":\"1. Postgres is the truth, the queue only notifies\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/01-postgres-is-the-truth.md\",\"filePath\":\"decisions/01-postgres-is-the-truth.md\"}");
var _sfc_main = { name: "decisions/01-postgres-is-the-truth.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_1-postgres-is-the-truth-the-queue-only-notifies" tabindex="-1">1. Postgres is the truth, the queue only notifies <a class="header-anchor" href="#_1-postgres-is-the-truth-the-queue-only-notifies" aria-label="Permalink to “1. Postgres is the truth, the queue only notifies”">​</a></h1><p><strong>Context.</strong> A registration is answered at once and finalized later. If the job is what remembers it, losing Redis loses registrations, and a row plus <code>queue.add</code> are two writes that can part.</p><p><strong>Decision.</strong> The batch&#39;s row is the outbox: <code>pending</code> until it is finalized. The queue is told after the commit, by a job that holds ids and nothing else. A relay looks for batches that are overdue.</p><p><strong>Consequence.</strong> Losing the queue, jobs or all of Redis delays confirmations and loses nothing. The API does not need the queue to be up. Jobs may be lost or come twice, so finalizing is idempotent. See <a href="./../how-it-works/outbox.html">Outbox, queue and relay</a>.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/01-postgres-is-the-truth.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _01_postgres_is_the_truth_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _01_postgres_is_the_truth_default as default };
