import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/76-a-queue-is-one-queue.md
var __pageData = JSON.parse("{\"title\":\"76. A queue is one BullMQ queue, on a Redis Cluster too\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/76-a-queue-is-one-queue.md\",\"filePath\":\"decisions/76-a-queue-is-one-queue.md\"}");
var _sfc_main = { name: "decisions/76-a-queue-is-one-queue.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_76-a-queue-is-one-bullmq-queue-on-a-redis-cluster-too" tabindex="-1">76. A queue is one BullMQ queue, on a Redis Cluster too <a class="header-anchor" href="#_76-a-queue-is-one-bullmq-queue-on-a-redis-cluster-too" aria-label="Permalink to “76. A queue is one BullMQ queue, on a Redis Cluster too”">​</a></h1><p><strong>Context.</strong> On a Redis Cluster each queue had 12 parts, so that its jobs were spread over all masters and a lost master stopped only its own parts (<a href="./52-a-queue-has-parts-on-a-cluster.html">decision 52</a>). An API process sends one job per 500 ms and shard. One master takes some 10,000 jobs per second. The parts were never needed for throughput, and the relay covers a lost master.</p><p><strong>Decision.</strong> A queue has one hash tag, <code>{namespace}</code>, and lies on one master. ioredis finds the master, on a cluster and with Sentinel. The producer no longer limits pending adds: the commands&#39; timeout of 5 s bounds them. A failed job is kept for a day, and <code>redrive</code> does not delete it: Postgres has the state of the batch.</p><p><strong>Consequence.</strong> While the master of the queue is away, batches of all shards are finalized by the relay, about 5 s after their commit. A worker has one blocking connection per queue. Jobs in parts of an earlier version are never run; the relay finds their batches.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/76-a-queue-is-one-queue.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _76_a_queue_is_one_queue_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _76_a_queue_is_one_queue_default as default };
