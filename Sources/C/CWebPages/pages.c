#include "pages.h"

// The clang of the Swift toolchain has #embed as an extension; it also notes the files as dependencies of this one.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define HTML "text/html; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define PICTURE "image/svg+xml"

static const unsigned char console_index_html[] = {
#embed "console/index.html"
};
static const unsigned char console_css[] = {
#embed "console/console.css"
};
static const unsigned char console_icon_svg[] = {
#embed "console/icon.svg"
};
static const unsigned char console_base_js[] = {
#embed "console/base.js"
};
static const unsigned char console_js[] = {
#embed "console/console.js"
};
static const unsigned char console_charts_js[] = {
#embed "console/charts.js"
};
static const unsigned char console_funnel_js[] = {
#embed "console/funnel.js"
};
static const unsigned char console_letters_js[] = {
#embed "console/letters.js"
};
static const unsigned char console_live_js[] = {
#embed "console/live.js"
};
static const unsigned char console_overview_js[] = {
#embed "console/overview.js"
};
static const unsigned char console_policy_js[] = {
#embed "console/policy.js"
};
static const unsigned char console_replays_js[] = {
#embed "console/replays.js"
};
static const unsigned char console_message_js[] = {
#embed "console/message.js"
};
static const unsigned char console_person_js[] = {
#embed "console/person.js"
};
static const unsigned char console_phone_js[] = {
#embed "console/phone.js"
};
static const unsigned char console_phones_js[] = {
#embed "console/phones.js"
};

static const unsigned char phones_index_html[] = {
#embed "phones/index.html"
};
static const unsigned char phones_css[] = {
#embed "phones/phones.css"
};
static const unsigned char phones_js[] = {
#embed "phones/phones.js"
};
static const unsigned char phones_app_js[] = {
#embed "phones/app.js"
};
static const unsigned char phones_dom_js[] = {
#embed "phones/dom.js"
};
static const unsigned char phones_screen_js[] = {
#embed "phones/screen.js"
};
static const unsigned char phones_why_js[] = {
#embed "phones/why.js"
};
// The code that docs/apps.md gives to apps, unchanged.
static const unsigned char app_live_js[] = {
#embed "../../../Schemas/app/web/live.js"
};
static const unsigned char app_nudge_js[] = {
#embed "../../../Schemas/app/web/nudge.js"
};

#define PAGE(folder, name, type, bytes) {folder, name, type, bytes, sizeof bytes}

static const struct web_page pages[] = {
    PAGE("console", "index.html", HTML, console_index_html),
    PAGE("console", "console.css", CSS, console_css),
    PAGE("console", "icon.svg", PICTURE, console_icon_svg),
    PAGE("console", "base.js", SCRIPT, console_base_js),
    PAGE("console", "console.js", SCRIPT, console_js),
    PAGE("console", "charts.js", SCRIPT, console_charts_js),
    PAGE("console", "funnel.js", SCRIPT, console_funnel_js),
    PAGE("console", "letters.js", SCRIPT, console_letters_js),
    PAGE("console", "live.js", SCRIPT, console_live_js),
    PAGE("console", "overview.js", SCRIPT, console_overview_js),
    PAGE("console", "policy.js", SCRIPT, console_policy_js),
    PAGE("console", "replays.js", SCRIPT, console_replays_js),
    PAGE("console", "message.js", SCRIPT, console_message_js),
    PAGE("console", "person.js", SCRIPT, console_person_js),
    PAGE("console", "phone.js", SCRIPT, console_phone_js),
    PAGE("console", "phones.js", SCRIPT, console_phones_js),
    PAGE("phones", "index.html", HTML, phones_index_html),
    PAGE("phones", "phones.css", CSS, phones_css),
    PAGE("phones", "phones.js", SCRIPT, phones_js),
    PAGE("phones", "app.js", SCRIPT, phones_app_js),
    PAGE("phones", "dom.js", SCRIPT, phones_dom_js),
    PAGE("phones", "screen.js", SCRIPT, phones_screen_js),
    PAGE("phones", "why.js", SCRIPT, phones_why_js),
    PAGE("phones", "live.js", SCRIPT, app_live_js),
    PAGE("phones", "nudge.js", SCRIPT, app_nudge_js),
    PAGE("phones", "icon.svg", PICTURE, console_icon_svg),
};

size_t web_page_count(void) { return sizeof pages / sizeof pages[0]; }

struct web_page web_page_at(size_t index) { return pages[index]; }
