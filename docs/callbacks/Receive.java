// Receives webhooks and verifies that they come from Platen. Needs only a JDK.

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receive {
    static final Map<String, String> ENVIRONMENT = System.getenv();
    static final byte[] KEY =
            Base64.getDecoder().decode(ENVIRONMENT.get("PLATEN_WEBHOOK_SECRET").replaceFirst("^whsec_", ""));
    static final long TOLERANCE = 5 * 60; // seconds

    static boolean isGenuine(Headers headers, byte[] body) {
        String id = headers.getFirst("webhook-id");
        String timestamp = headers.getFirst("webhook-timestamp");
        String signatures = headers.getFirst("webhook-signature");
        if (id == null || signatures == null || timestamp == null || !timestamp.matches("[0-9]{1,12}")
                || Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE) {
            return false;
        }
        byte[] hmac;
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
            mac.update((id + "." + timestamp + ".").getBytes(UTF_8));
            hmac = mac.doFinal(body);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(hmac)).getBytes(UTF_8);
        for (String signature : signatures.split(" ")) {
            if (MessageDigest.isEqual(expected, signature.getBytes(UTF_8))) {
                return true;
            }
        }
        return false;
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(ENVIRONMENT.getOrDefault("PORT", "8000"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            boolean genuine = isGenuine(exchange.getRequestHeaders(), body);
            exchange.sendResponseHeaders(genuine ? 204 : 400, -1);
            exchange.close();
            if (genuine) {
                // Do slow work in a queue of your own. The same webhook-id may arrive again.
                System.out.println(exchange.getRequestHeaders().getFirst("webhook-id") + " " + new String(body, UTF_8));
            }
        });
        server.start();
        System.out.println("listening on port " + server.getAddress().getPort());
    }
}
