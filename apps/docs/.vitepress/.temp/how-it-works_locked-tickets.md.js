import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/how-it-works/locked-tickets.md
var __pageData = JSON.parse("{\"title\":\"Locked tickets\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"how-it-works/locked-tickets.md\",\"filePath\":\"how-it-works/locked-tickets.md\"}");
var _sfc_main = { name: "how-it-works/locked-tickets.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="locked-tickets" tabindex="-1">Locked tickets <a class="header-anchor" href="#locked-tickets" aria-label="Permalink to “Locked tickets”">​</a></h1><p>A group contains several tickets. If a forgotten transaction keeps one ticket&#39;s row locked, it delays all of them, group after group, and the groups of other APIs behind them. Each ticket has a circuit breaker against that. Code: <code>packages/registrations/src/register/commit-batch.ts</code>.</p><div class="language-"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang"></span><pre class="shiki shiki-themes github-light github-dark" style="--shiki-light:#24292e;--shiki-dark:#e1e4e8;--shiki-light-bg:#fff;--shiki-dark-bg:#24292e;" tabindex="0" dir="ltr"><code><span class="line"><span>          found locked              cool-down is over</span></span>
<span class="line"><span> ┌──────┐ ────────────▶ ┌─────────┐ ────────────────▶ ┌──────────────┐</span></span>
<span class="line"><span> │ free │               │ refused │                   │ tried again  │</span></span>
<span class="line"><span> └──────┘               │ (90)    │ ◀──────────────── │ by one group │</span></span>
<span class="line"><span>     ▲                  └─────────┘   still locked:   └──────┬───────┘</span></span>
<span class="line"><span>     │                                twice as long          │</span></span>
<span class="line"><span>     └───────────────── that group commits ──────────────────┘</span></span></code></pre></div><ol><li>The statement waits for a row lock for at most a quarter of <code>ANSWER_WITHIN_MS</code>.</li><li>Then one query with <code>skip locked</code> finds the locked tickets.</li><li>The registrations for the other tickets are attempted again at once. The buyers of the locked tickets are answered 90 for a cool-down of 0.5 s. It doubles each time that the ticket is still locked, up to 5 s.</li><li>After the cool-down, one group tries the ticket again. If it is still locked, the other registrations of that group wait a second time.</li></ol><p>The log names the ticket, and says when it is free again. If a request names a ticket with the wrong event, the ticket never counts as locked. Otherwise a partner could learn about other partners&#39; tickets.</p><h2 id="what-it-does-not-cover" tabindex="-1">What it does not cover <a class="header-anchor" href="#what-it-does-not-cover" aria-label="Permalink to “What it does not cover”">​</a></h2><ul><li>A transaction that locks a ticket for a second, again and again, delays the buyers of all other tickets by that second each time.</li><li>A transaction that inserts an attendee or an idempotency key by hand delays the groups with the same attendee or key: only rows of tickets have a circuit breaker.</li></ul></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("how-it-works/locked-tickets.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var locked_tickets_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, locked_tickets_default as default };
