import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/guide/rate-limits.md
var __pageData = JSON.parse("{\"title\":\"Rate limits\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"guide/rate-limits.md\",\"filePath\":\"guide/rate-limits.md\"}");
var _sfc_main = { name: "guide/rate-limits.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="rate-limits" tabindex="-1">Rate limits <a class="header-anchor" href="#rate-limits" aria-label="Permalink to “Rate limits”">​</a></h1><p>Most partners have no rate limit. If you agreed on a limit of requests per second, every answer has these headers:</p><div class="language-http"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">http</span><pre class="shiki shiki-themes github-light github-dark" style="--shiki-light:#24292e;--shiki-dark:#e1e4e8;--shiki-light-bg:#fff;--shiki-dark-bg:#24292e;" tabindex="0" dir="ltr"><code><span class="line"><span style="--shiki-light:#11782a;--shiki-dark:#85E89D;">RateLimit-Policy</span><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">:</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> &quot;partner&quot;;q=100;w=1</span></span>
<span class="line"><span style="--shiki-light:#11782a;--shiki-dark:#85E89D;">RateLimit</span><span style="--shiki-light:#c62739;--shiki-dark:#F97583;">:</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> &quot;partner&quot;;r=42;t=1</span></span></code></pre></div><ul><li><code>q</code> is the limit: the number of requests in <code>w</code> seconds.</li><li><code>r</code> is the approximate number of requests that remain in this second. <code>t</code> is the number of seconds until it ends.</li></ul><p>The headers follow draft-ietf-httpapi-ratelimit-headers.</p><p>A request above the limit is answered 50 (HTTP 429) with <code>Retry-After</code>, before its body is read. Nothing was reserved. The more requests were refused in the same second, the longer <code>Retry-After</code> is: about the time until all of them can pass.</p><ul><li>The limit applies to the partner: to all its keys and all processes of the service together.</li><li>Every request with a valid key and event counts, whatever its answer is. Requests that are refused with 12, 20 or 21 do not count.</li><li>A <a href="./bulk.html">bulk call</a> counts as many requests as it has registrations, and at least one for every 4 KiB of its body. Either the whole call passes, or it is refused. Hold Seats counts as the number of its seats.</li><li>Each second is counted separately. The last requests of one second can be followed at once by the first ones of the next.</li></ul></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("guide/rate-limits.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var rate_limits_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, rate_limits_default as default };
