// The requirements of shares.test.ts on a listener that forwards as well.
import '../support/echo/share-listener.ts'
import './shares.test.ts'
