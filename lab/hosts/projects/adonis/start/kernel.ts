import router from '@adonisjs/core/services/router';
import server from '@adonisjs/core/services/server';

// Server middleware runs before the routes and before the router's body parser.
server.use([() => import('../app/middleware/payment_webhook_middleware.js')]);
router.use([() => import('@adonisjs/core/bodyparser_middleware')]);
