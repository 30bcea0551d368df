import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/79-an-e-mail-is-a-frame.md
var __pageData = JSON.parse("{\"title\":\"79. The library composes a frame, and e-mails fill it\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/79-an-e-mail-is-a-frame.md\",\"filePath\":\"decisions/79-an-e-mail-is-a-frame.md\"}");
var _sfc_main = { name: "decisions/79-an-e-mail-is-a-frame.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_79-the-library-composes-a-frame-and-e-mails-fill-it" tabindex="-1">79. The library composes a frame, and e-mails fill it <a class="header-anchor" href="#_79-the-library-composes-a-frame-and-e-mails-fill-it" aria-label="Permalink to “79. The library composes a frame, and e-mails fill it”">​</a></h1><p><strong>Context.</strong> <code>MailComposer</code> of nodemailer needs 2.9 ms for an e-mail with a QR code and a calendar file, which is 340 a second. The hand-written MIME writer was fast, but it was ours to maintain, and a regular expression parsed its output for previews.</p><p><strong>Decision.</strong> <code>packages/mail/src/message.ts</code> has the library compose one e-mail per event, language and kind, with placeholders for text, HTML and picture. Each e-mail replaces the placeholders (in base64) and has the library write its own To, Message-ID and Date. The template is one, <code>letter.ts</code>: it renders the same letter as text and as HTML. It takes 0.09 ms. There is no thread: most of the rest is SMTP and Postgres, and a second thread would share the same cores. nodemailer&#39;s pool gets messages that are composed already, because its <code>sendMail</code> wraps each in streams for 0.4 ms.</p><p><strong>Consequence.</strong> Previews and the mailcatcher keep text and HTML next to the message, so nothing is parsed. Measure with <code>npm run bench -- --mails</code>.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/79-an-e-mail-is-a-frame.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _79_an_e_mail_is_a_frame_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _79_an_e_mail_is_a_frame_default as default };
