// The request targets that nginx and Caddy may route, as expressions that PCRE, RE2 and JavaScript read alike.
//
// These servers match a path that they have decoded and resolved, and forward the target as it came. What an upstream could read as
// another path is therefore refused, also where `normaliseTarget` would bring it into its normal form and forward that.

const hex = '[0-9A-Fa-f]'
/** Path and query of the characters that RFC 3986 has for them, every `%` with two digits. */
export const allowed_target = `^/(?:[A-Za-z0-9._~!$&'()*+,=:@;/-]|%${hex}${hex})*(?:[?][!\\x22$-~]*)?$`

// Digits and `u` that a second decoding would read, also where they are escaped themselves.
const inner_digit = `(?:${hex}|%3[0-9]|%[46][1-6])`
const inner_u = '(?:[Uu]|%[57]5)'
/** Controls, slash, backslash, and an escape within an escape. */
const escape_fault = `%(?:[01]${hex}|7[Ff]|2[Ff]|5[Cc]|25(?:${inner_digit}${inner_digit}|${inner_u}${inner_digit}))`

const dot = '(?:[.]|%2[Ee])(?:%20)*'
const dots = `(?:${dot})?(?:${dot})?`
/** A segment that is empty, `.` or `..` for servers that drop spaces and parameters. The last may be empty: a slash at the end. */
const segment_fault = `/(?:%20)*${dots}(?:;|%3[Bb]|/)|/(?:(?:%20)+${dots}|${dot}(?:${dot})?)(?:[?]|$)`

export const refused_target = `^[^?]*(?:${escape_fault}|${segment_fault})`
