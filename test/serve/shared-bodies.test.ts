// The requirements of bodies.test.ts on a listener that forwards as well.
import '../support/echo/share-listener.ts'
import './bodies.test.ts'
