export default {
  host: process.env.HOST,
  port: Number(process.env.PORT),
  app: { keys: ['not-a-secret-of-a-shop'] },
};
