// Text with its percent escapes decoded, as services read it.

/** Every run of escapes as UTF-8; bytes that are not UTF-8 become U+FFFD. Never throws. */
export function decodeEscapes(text: string): string {
  return text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'))
}
