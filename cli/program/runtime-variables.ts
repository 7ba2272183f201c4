// Keeps variables and signals of Node itself from changing what the program trusts, writes or opens.

/**
 * Removes variables that only Node reads, such as NODE_TLS_REJECT_UNAUTHORIZED: nobody reads them afterwards, neither
 * here nor in a child process. The build makes native code ignore those that it reads before the program begins
 * (scripts/build-steps/ignored-variables.mjs).
 */
export function dropRuntimeVariables(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env).filter((candidate) => runtimeVariable.test(candidate))) delete env[name]
}

/** No setting of the product begins like this. */
const runtimeVariable = /^(NODE_|OPENSSL_|SSL_CERT_|PKG_|DEBUG_PKG)/

/** Node would open its inspector, without authentication; without any listener, the signal would end the process. */
export function ignoreInspectorSignal(emitter: NodeJS.EventEmitter): void {
  emitter.on('SIGUSR1', () => undefined)
}
