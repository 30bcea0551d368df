import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/52-a-queue-has-parts-on-a-cluster.md
var __pageData = JSON.parse("{\"title\":\"52. A queue has parts on a Redis Cluster\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/52-a-queue-has-parts-on-a-cluster.md\",\"filePath\":\"decisions/52-a-queue-has-parts-on-a-cluster.md\"}");
var _sfc_main = { name: "decisions/52-a-queue-has-parts-on-a-cluster.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_52-a-queue-has-parts-on-a-redis-cluster" tabindex="-1">52. A queue has parts on a Redis Cluster <a class="header-anchor" href="#_52-a-queue-has-parts-on-a-redis-cluster" aria-label="Permalink to “52. A queue has parts on a Redis Cluster”">​</a></h1><p>Replaced by <a href="./76-a-queue-is-one-queue.html">decision 76</a>.</p><p><strong>Context.</strong> BullMQ needs all keys of a queue in one hash slot, so a queue lay on one master of a cluster, and stopped with it.</p><p><strong>Decision.</strong> On a cluster a queue has 12 parts, each a BullMQ queue of its own, with tags chosen so that their slots lie evenly apart. A job&#39;s key, its shard, chooses the part. Callers of the queue see one queue: the parts end at its producer and consumer. The number is fixed, so that no two processes can differ. 12 is divided evenly by 2, 3, 4 and 6 masters. The first part has the name that the queue had before, and elsewhere it is the only one: jobs that wait are found by the next release.</p><p><strong>Consequence.</strong> A worker has a blocking connection for each part. Another number is another release: what lies in parts that nobody looks into any more is lost to the queue, and found by the relay. Shards are spread by a hash: of the 32 that <code>migrate</code> makes on Citus, three masters get 9 to 12 each.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/52-a-queue-has-parts-on-a-cluster.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _52_a_queue_has_parts_on_a_cluster_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _52_a_queue_has_parts_on_a_cluster_default as default };
