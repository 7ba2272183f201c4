// Makes the Node of the executable ignore variables that would change what runs, who is trusted, or what is written.

/**
 * Read by Node's native code before the first line of a program, which therefore cannot ignore them itself. Those that
 * JavaScript reads are dropped by cli/program/runtime-variables.ts, and NODE_OPTIONS by sea-options.mjs as well.
 */
const ignored = [
  'NODE_OPTIONS',
  'NODE_V8_COVERAGE',
  'NODE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'NODE_USE_ENV_PROXY',
  'NODE_ICU_DATA',
  'NODE_REDIRECT_WARNINGS',
  'NODE_PENDING_DEPRECATION',
  'NODE_PRESERVE_SYMLINKS',
  'NODE_PRESERVE_SYMLINKS_MAIN',
  'NODE_REPL_EXTERNAL_MODULE',
  'NODE_DEBUG_NATIVE',
  'OPENSSL_CONF',
  'OPENSSL_MODULES',
  'OPENSSL_ENGINES',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]

/**
 * Empties the names in a copy of Node: no variable has an empty name. Constants of native code end with a zero byte and
 * stand before the sources and the snapshot of Node's JavaScript, in which the same names must stay.
 */
export function withoutVariables(node) {
  const changed = Buffer.from(node)
  for (const name of ignored) {
    const at = changed.indexOf(`\0${name}\0`, 0, 'latin1')
    if (at === -1) throw new Error(`Node no longer contains the variable ${name}; adapt ignored-variables.mjs`)
    changed[at + 1] = 0
  }
  return changed
}
