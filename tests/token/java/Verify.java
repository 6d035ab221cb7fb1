import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cms.CMSException;
import org.bouncycastle.cms.CMSProcessableByteArray;
import org.bouncycastle.cms.CMSSignedData;
import org.bouncycastle.cms.SignerInformation;
import org.bouncycastle.cms.jcajce.JcaSimpleSignerInfoVerifierBuilder;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;

/** Prints which of these have a right signature: CERTIFICATE REQUEST CMS DETACHED MESSAGE. */
class Verify {
    public static void main(String[] files) throws Exception {
        Security.addProvider(new BouncyCastleProvider());
        var certificate = (X509CertificateHolder) pem(files[0]);
        var request = (PKCS10CertificationRequest) pem(files[1]);
        var verifiers = new JcaContentVerifierProviderBuilder().setProvider("BC");
        if (certificate.isSignatureValid(verifiers.build(certificate))) {
            System.out.println("certificate");
        }
        if (request.isSignatureValid(verifiers.build(request.getSubjectPublicKeyInfo()))) {
            System.out.println("request");
        }
        var message = new CMSProcessableByteArray(bytes(files[4]));
        var whole = new CMSSignedData(bytes(files[2]));
        if (verified(whole)) {
            System.out.println("signature");
        }
        if (verified(new CMSSignedData(message, bytes(files[3])))) {
            System.out.println("detached");
        }
    }

    static boolean verified(CMSSignedData data) throws Exception {
        var signers = data.getSignerInfos().getSigners();
        if (signers.size() != 1) {
            return false;
        }
        SignerInformation signer = signers.iterator().next();
        var found = data.getCertificates().getMatches(signer.getSID());
        var certificate = (X509CertificateHolder) found.iterator().next();
        var verifier = new JcaSimpleSignerInfoVerifierBuilder().setProvider("BC").build(certificate);
        try {
            return signer.verify(verifier);
        } catch (CMSException error) {
            return false;
        }
    }

    static Object pem(String file) throws Exception {
        try (var parser = new PEMParser(Files.newBufferedReader(Path.of(file)))) {
            return parser.readObject();
        }
    }

    static byte[] bytes(String file) throws Exception {
        return Files.readAllBytes(Path.of(file));
    }
}
