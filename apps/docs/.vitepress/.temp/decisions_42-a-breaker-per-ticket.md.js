import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/42-a-breaker-per-ticket.md
var __pageData = JSON.parse("{\"title\":\"42. A circuit breaker per ticket in place of a watcher\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/42-a-breaker-per-ticket.md\",\"filePath\":\"decisions/42-a-breaker-per-ticket.md\"}");
var _sfc_main = { name: "decisions/42-a-breaker-per-ticket.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_42-a-circuit-breaker-per-ticket-in-place-of-a-watcher" tabindex="-1">42. A circuit breaker per ticket in place of a watcher <a class="header-anchor" href="#_42-a-circuit-breaker-per-ticket-in-place-of-a-watcher" aria-label="Permalink to “42. A circuit breaker per ticket in place of a watcher”">​</a></h1><p><strong>Context.</strong> <a href="./29-lock-timeout-and-skip-locked.html">Locked tickets</a> were looked after by one connection that asked for all and stood in line for one, because a ticket that the groups of other APIs take turns with is never found free by asking alone. That loop had to be started, stopped and told of outages.</p><p><strong>Decision.</strong> Each locked ticket has a circuit breaker with a cool-down, which doubles while the ticket stays locked. After it one group tries the ticket.</p><p><strong>Consequence.</strong> No loop and no connection beside the groups. A ticket that is free again is noticed at the end of its cool-down, and each try of one that is not makes the others in that group wait once more.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/42-a-breaker-per-ticket.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _42_a_breaker_per_ticket_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _42_a_breaker_per_ticket_default as default };
