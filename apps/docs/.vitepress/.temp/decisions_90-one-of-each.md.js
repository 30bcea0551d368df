import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/90-one-of-each.md
var __pageData = JSON.parse("{\"title\":\"90. One of each\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/90-one-of-each.md\",\"filePath\":\"decisions/90-one-of-each.md\"}");
var _sfc_main = { name: "decisions/90-one-of-each.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_90-one-of-each" tabindex="-1">90. One of each <a class="header-anchor" href="#_90-one-of-each" aria-label="Permalink to “90. One of each”">​</a></h1><p><strong>Context.</strong> The code grew threefold in a week. Each feature brought its own scheduler, state machine, retry loop and delivery loop. A registration visited 25 files between HTTP and &quot;00&quot;, an e-mail 27. SQL functions existed as text templates in two variants, one for Postgres and one for Citus. Three SQL functions wrote the journal. The next feature would have added one more of each.</p><p><strong>Decision.</strong> One mechanism for each job. The layout below was sketched before any file moved.</p><div class="language-"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang"></span><pre class="shiki shiki-themes github-light github-dark" style="--shiki-light:#24292e;--shiki-dark:#e1e4e8;--shiki-light-bg:#fff;--shiki-dark-bg:#24292e;" tabindex="0" dir="ltr"><code><span class="line"><span>packages/database/sql/</span></span>
<span class="line"><span>  tables/0001-initial.sql        runs once, in order, never changes after a release</span></span>
<span class="line"><span>  functions/&lt;name&gt;.sql           one function each; applied again when its hash changes</span></span>
<span class="line"><span>  grants/{api,worker,delivery}.sql   what each service may do, functions included</span></span>
<span class="line"><span>packages/registrations/src/</span></span>
<span class="line"><span>  admission/                     the one queue that admits registrations and changes</span></span>
<span class="line"><span>  register/                      one call of reserve_batch per group, repeated with the same batch id</span></span>
<span class="line"><span>  change/                        cancel, confirm and expire insert changes</span></span>
<span class="line"><span>  finalize/                      the only writer of the journal: batches and changes in one pass</span></span>
<span class="line"><span>packages/deliveries/             one table and one loop for everything sent to one recipient</span></span>
<span class="line"><span>packages/mail/src/kinds/         a definition and a template for each kind of e-mail</span></span>
<span class="line"><span>packages/webhooks/src/actions.ts  an action per operation; routes and commands are adapters</span></span>
<span class="line"><span>apps/bench/                      the benchmark, with its own dependencies</span></span></code></pre></div><p>A registration:</p><div class="language-"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang"></span><pre class="shiki shiki-themes github-light github-dark" style="--shiki-light:#24292e;--shiki-dark:#e1e4e8;--shiki-light-bg:#fff;--shiki-dark-bg:#24292e;" tabindex="0" dir="ltr"><code><span class="line"><span> route ─► admission queue ─► commit batch ─► reserve_batch (SQL) ─► &quot;00&quot;</span></span>
<span class="line"><span>                                  │                 │</span></span>
<span class="line"><span>                                  │ connection lost │ same batch id: the same answer</span></span>
<span class="line"><span>                                  └────────◄────────┘</span></span>
<span class="line"><span> committed batch ─► queue ─► finalize_batches (SQL) ─► journal</span></span></code></pre></div><p>A cancellation:</p><div class="language-"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang"></span><pre class="shiki shiki-themes github-light github-dark" style="--shiki-light:#24292e;--shiki-dark:#e1e4e8;--shiki-light-bg:#fff;--shiki-dark-bg:#24292e;" tabindex="0" dir="ltr"><code><span class="line"><span> route ─► admission queue ─► change_registrations (SQL) ─► &quot;00&quot;</span></span>
<span class="line"><span>                              seat freed, row in changes</span></span>
<span class="line"><span> changes ─► queue ─► finalize_batches (SQL) ─► journal</span></span></code></pre></div><p>An e-mail:</p><div class="language-"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang"></span><pre class="shiki shiki-themes github-light github-dark" style="--shiki-light:#24292e;--shiki-dark:#e1e4e8;--shiki-light-bg:#fff;--shiki-dark-bg:#24292e;" tabindex="0" dir="ltr"><code><span class="line"><span> journal ─► mail consumer: insert rows, move the cursor   (one transaction for each page)</span></span>
<span class="line"><span> deliveries: queued ─► sending ─► sent</span></span>
<span class="line"><span>                          │  ▲</span></span>
<span class="line"><span>                          │  └── retry, when it is due</span></span>
<span class="line"><span>                          └────► undeliverable · suppressed · cancelled</span></span></code></pre></div><p>A row that a crash leaves in <code>sending</code> may have been sent. It is sent once more with the same Message-ID, and counted.</p><p><strong>Consequence.</strong> A new ability adds a package, its SQL and a line in each app that lists it. It adds no scheduler and no retry loop. The later decisions of this redesign give the measurements and say where they deviate from the sketch.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/90-one-of-each.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _90_one_of_each_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _90_one_of_each_default as default };
